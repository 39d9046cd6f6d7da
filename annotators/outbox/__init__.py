"""Every call that costs money or decides about a person: intent, call, outcome. ADRs 4 and 9."""
