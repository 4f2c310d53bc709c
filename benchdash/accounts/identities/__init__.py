"""Jobs of CI that show who they are by a signed token of their CI, so that no secret need be stored."""
