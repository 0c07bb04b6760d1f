"""The schema registry: subjects, their versions, and who may change them how. One service for every dialect."""
