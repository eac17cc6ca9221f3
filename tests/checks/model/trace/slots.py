"""The events of one mutex in a cluster as numbers, for queued.h. The model is that of one server:
to a lock, a slot is one server, also while it moves and after a failover."""
import queued

MODEL = queued.MODEL
Translation = queued.Translation
# In a cluster no trace shows the owner check of renewals.
RULES = [rule for rule in queued.RULES if rule != 'WITHOUT_OWNER_CHECK_OF_RENEWALS']
