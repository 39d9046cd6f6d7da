"""What HITs ask of workers, what workers have, and how they come by it."""
