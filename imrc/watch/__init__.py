"""Watching tasks as they arrive, with an alarm whose false alarms are bounded however long you watch.

The alarm asks whether all rows so far are independent draws from one distribution. Each arriving task is compared with
the samples before it by a permutation test with randomised ties, so under the hypothesis its p-values are independent
and uniform. A new bet on small p-values begins at every task, with weights that add up to one. The capital of all bets
plus the weights of those to come is a non-negative martingale that starts at one, so the probability that it ever
reaches 1 / alpha is at most alpha (Ville's inequality), and the capital itself lies below it. If rows depend on each
other, this no longer holds, and the alarm can go off without a change. The warning "more than usual" appears if a
change is larger than earlier changes would lead you to expect. It is calibrated by simulation only.
"""

from imrc.watch._lamps import Alarm, MoreThanUsual
from imrc.watch._watcher import Arrival, Watcher, arrival_sentences, first_alarm, watch_story

__all__ = ["Arrival", "Watcher"]
