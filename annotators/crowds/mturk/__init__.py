"""Any endpoint that speaks MTurk: the one door to boto3."""
