"""The paper's tables: measured again (`measure`), and the results shipped with the package (`shipped`)."""
