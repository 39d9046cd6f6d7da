"""Items come in: samples drawn, files imported, planted checks, scores of automatic metrics."""
