"""Reading Prefect's REST API over httpx; the prefect package is never imported here."""
