"""Watching tasks as they arrive: an alarm whose false alarms are bounded however long one watches, and a second lamp.

The alarm asks whether all rows so far are independent draws from one distribution. Each arriving task is compared with
the samples before it by a permutation test with randomised ties, so under the hypothesis its p-values are independent
and uniform. A bet on small p-values begins anew at every task, with weights that add up to one. The capital of all bets
and the weights of those to come make up a non-negative martingale that starts from one, so the probability that it ever
reaches 1 / alpha is at most alpha (Ville's inequality); the capital itself lies below it. Rows that depend on each
other break this, and the alarm then goes off without a change. The second lamp, "more than usual", asks whether a
change is larger than the changes before it lead to expect; it is calibrated by simulation only.
"""

from imrc.watch._lamps import Alarm, MoreThanUsual
from imrc.watch._watcher import Arrival, Watcher, arrival_sentences, first_alarm, watch_story

__all__ = ["Arrival", "Watcher"]
