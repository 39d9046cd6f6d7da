"""A whole study by simulated people, through HTTP and boto3 alone; the books are checked to the cent."""
