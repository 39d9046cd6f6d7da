"""What a survey asks, and by which rules work is judged. Pure Python."""
