"""Whether work is paid and used, who may go on, and what people say against it."""
