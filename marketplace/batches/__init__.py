"""Template batches: an HTML template and a CSV in, a HIT per row out, and MTurk's results file back."""
