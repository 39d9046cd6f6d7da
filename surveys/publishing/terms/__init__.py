"""What a researcher decides before a batch is published, as forms: pages show them, the API fills them."""
