"""One person, from opening to saved: presentation, orders, places, quiz, answers."""
