// The commands of an empty project say what was typed into the fields above them.

const PLAIN = /^[\w@%+=:,.\/-]+$/;

function quoted(text) {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

// A field that was emptied leaves its line out: the file says it. Those of the client are "--product MariaDB".
function filled(command, values) {
  const lines = command.split(" \\\n").map((line) => {
    if (values.file) line = line.replace(/( upload )\S+$/, (_, word) => word + quoted(values.file));
    const [, option, name, joint] = line.match(/^\s*((?:-F|--set) |--)(\w+)([= ])/) ?? [];
    if (name === undefined || values[name] === undefined) return line;
    if (!values[name]) return null;
    return `  ${option}${name}${joint}${name === "file" ? "@" : ""}${quoted(values[name])}`;
  });
  return lines.filter((line) => line !== null).join(" \\\n");
}

function fill() {
  const fields = [...document.querySelectorAll("[data-fills]")];
  const values = Object.fromEntries(fields.map((field) => [field.dataset.fills, field.value.trim()]));
  for (const button of document.querySelectorAll("#first-steps [data-copy]")) {
    button.dataset.asMade ??= button.dataset.copy;
    button.dataset.copy = filled(button.dataset.asMade, values);
    button.closest(".command").querySelector("code").textContent = button.dataset.copy;
  }
}

document.addEventListener("input", (event) => {
  if ("fills" in event.target.dataset) fill();
});
// The command with the token comes without what was typed.
document.addEventListener("htmx:oobAfterSwap", fill);
