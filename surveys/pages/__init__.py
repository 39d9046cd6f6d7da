"""What people see: the views, forms and admin of one room together."""
