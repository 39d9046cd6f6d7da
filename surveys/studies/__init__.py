"""Items come in: importing, planted checks, scores of automatic metrics."""
