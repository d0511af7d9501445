"""The paper's tables: measured again (`measure`), shipped with the package (`shipped`), kept here (`kept`)."""
