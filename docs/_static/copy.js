// A button on every block of code that copies it: of a session at the shell, the commands alone.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight")) {
    if (block.closest("div.output:not(.highlight-console)")) continue;
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.onclick = async () => {
      const text = block.querySelector("pre").textContent.trimEnd();
      const commands = text.split("\n").filter((line) => line.startsWith("$ "));
      await navigator.clipboard.writeText(commands.map((line) => line.slice(2)).join("\n") || text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    };
    block.append(button);
  }
});
