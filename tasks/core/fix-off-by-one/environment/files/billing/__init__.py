"""Billing: which days a customer pays for."""
