"""The processes of a site under one roof: started together, stopped together."""
