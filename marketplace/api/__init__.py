"""The requester API on the wire: MTurk's JSON protocol as botocore's service model describes it."""
