"""One person, from opening to saved: arrival, presentation, orders, places, quiz, answers."""
