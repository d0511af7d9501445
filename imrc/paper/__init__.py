"""The paper's tables: measured again (`measure`), and shipped with the package (`shipped`)."""
