"""What a client asks for, one module for each part of it. A handler gets the session and the command's content."""
