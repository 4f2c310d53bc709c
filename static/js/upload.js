// The upload form: files chosen or dropped, sent one after another, and what became of each.

const form = document.getElementById("upload-form");
const list = document.getElementById("file-list");
const rowTemplate = document.getElementById("file-row");
const picker = form.querySelector("input[name=file]");
const configurations = form.querySelector("input[name=configuration_file]");
const zone = form.querySelector(".drop-zone");
const zoneError = form.querySelector(".drop-error");
const sum = form.querySelector("[data-sum]");
const stopButton = form.querySelector("[data-stop]");
const stepButtons = [...form.querySelectorAll("button[name=step]")];

const MOST_BYTES = Number(form.dataset.mostBytes);
const BESIDE = form.dataset.beside.split(" ");
const CONFIGURATIONS = form.dataset.configurations.split(" ");
const ARCHIVES = form.dataset.archives.split(" ");
const MOST_MAPPING_BYTES = 1_000_000;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// One entry per result: {file, beside: [File], row, isStored}. A file that lies beside a result which was not
// chosen yet waits in `waiting`.
let entries = [];
let waiting = [];
let request = null;
let isStopped = false;

// --- files ---

function add(files) {
  zoneError.textContent = "";
  list.querySelectorAll("li:not([data-entry])").forEach((row) => row.remove());
  const chosen = [...files];
  const settings = chosen.filter((file) => CONFIGURATIONS.some((suffix) => file.name.toLowerCase().endsWith(suffix)));
  if (settings.length) addConfigurations(settings);
  const others = chosen.filter((file) => !settings.includes(file));
  waiting.push(...others.filter((file) => suffixOf(file.name)));
  for (const file of others.filter((file) => !suffixOf(file.name))) addEntry(file);
  pair();
}

function addEntry(file) {
  if (ARCHIVES.some((suffix) => file.name.toLowerCase().endsWith(suffix))) form.querySelector(".archive-fields").open = true;
  const row = rowTemplate.content.firstElementChild.cloneNode(true);
  row.dataset.entry = "";
  row.querySelector(".file-title").textContent = shown(file.name);
  row.querySelector(".file-size").textContent = sizeInWords(file.size);
  row.querySelector("[data-remove]").setAttribute("aria-label", `Remove ${shown(file.name)}`);
  const entry = { file, beside: [], row, isStored: false };
  row.querySelector("[data-remove]").addEventListener("click", () => {
    entries = entries.filter((one) => one !== entry);
    row.remove();
    tellSum();
  });
  entries.push(entry);
  list.append(row);
}

function addConfigurations(files) {
  const all = new DataTransfer();
  for (const file of [...configurations.files, ...files]) all.items.add(file);
  configurations.files = all.files;
}

function pair() {
  const left = [];
  for (const file of waiting) {
    const stem = file.name.slice(0, -suffixOf(file.name).length);
    const owners = entries.filter((entry) => !entry.isStored && isBeside(stem, entry.file.name));
    for (const owner of owners) {
      owner.beside = [...owner.beside.filter((one) => one.name !== file.name), file];
      owner.row.querySelector(".file-beside").textContent = `with ${owner.beside.map((one) => shown(one.name)).join(", ")}`;
    }
    if (!owners.length) left.push(file);
  }
  waiting = left;
  tellSum();
}

// As ingest/archives/plan.py has it: t04.vmstat.txt lies beside t04.txt and beside t04.sysbench.txt.
function isBeside(stem, name) {
  const withoutSuffix = name.replace(/(.)\.[^.]*$/, "$1");
  return [name, withoutSuffix, withoutSuffix.replace(/(.)\.[A-Za-z]+$/, "$1")].includes(stem);
}

function suffixOf(name) {
  return BESIDE.find((suffix) => name.endsWith(suffix)) ?? "";
}

function shown(name) {
  return name.replace(CONTROL, "").slice(0, 255) || "file";
}

function sizeInWords(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${unit ? bytes.toPrecision(3) : bytes} ${units[unit]}`;
}

// --- choosing and dropping ---

function holdsFiles(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

function filesOf(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const isFolder = (item) => item.webkitGetAsEntry?.()?.isDirectory;
  const files = items.filter((item) => !isFolder(item)).map((item) => item.getAsFile());
  return { files, holdsFolder: items.some(isFolder) };
}

picker.required = false;
picker.addEventListener("change", () => {
  add(picker.files);
  picker.value = "";
});
document.addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  zone.classList.add("is-over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) zone.classList.remove("is-over");
});
document.addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  zone.classList.remove("is-over");
  if (request) return;
  const { files, holdsFolder } = filesOf(event.dataTransfer);
  add(files);
  if (holdsFolder) zoneError.textContent = "A folder is sent as an archive: pack it with tar czf results.tgz folder, and drop that.";
});

// --- sending ---

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (request) return;
  const open = entries.filter((entry) => !entry.isStored);
  zoneError.textContent = open.length ? "" : "Choose a result file first.";
  if (!open.length) {
    picker.focus();
    return;
  }
  clearFieldErrors();
  isStopped = false;
  setBusy(true);
  const step = event.submitter?.value ?? "check";
  for (const [index, entry] of open.entries()) {
    if (isStopped) break;
    sum.textContent = `${index + 1} of ${open.length}`;
    await send(entry, step);
  }
  setBusy(false);
  tellSum();
  form.querySelector(".has-errors :is(input, textarea, select)")?.focus();
  if (entries.length === 1) lookAt(entries[0].row);
});

// A job that imports the only file has its progress on a page of its own.
function lookAt(row) {
  const follow = row.querySelector("[data-follow]")?.dataset.follow;
  if (follow) location.assign(follow);
  else if (row.querySelector(".file-table")) row.scrollIntoView({ block: "nearest" });
}

async function send(entry, step) {
  const progress = entry.row.querySelector("progress");
  if (entry.file.size > MOST_BYTES) {
    tell(entry, `The file is larger than ${sizeInWords(MOST_BYTES)}, the most that this installation takes.`);
    return;
  }
  const data = new FormData(form);
  data.delete("file");
  for (const file of [entry.file, ...entry.beside]) data.append("file", file);
  data.append("step", step);
  progress.hidden = false;
  entry.row.classList.add("is-sending");
  const answer = await post(data, (share) => {
    // All is sent; how long the server reads is not known.
    if (share < 1) progress.value = share;
    else progress.removeAttribute("value");
  });
  progress.hidden = true;
  progress.value = 0;
  entry.row.classList.remove("is-sending");
  take(entry, answer);
}

function post(data, onProgress) {
  return new Promise((resolve) => {
    request = new XMLHttpRequest();
    request.open("POST", form.getAttribute("action"));
    request.setRequestHeader("X-Requested-With", "upload.js");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    const end = ({ target }) => {
      request = null;
      resolve({ status: target.status, text: target.responseText });
    };
    for (const name of ["load", "error", "abort", "timeout"]) request.addEventListener(name, end);
    request.send(data);
  });
}

function take(entry, { status, text }) {
  const outcome = new DOMParser().parseFromString(text, "text/html").querySelector("[data-outcome]");
  if (!outcome) {
    tell(entry, trouble(status));
    return;
  }
  entry.isStored = "stored" in outcome.dataset;
  entry.row.querySelector("[data-remove]").hidden = entry.isStored;
  entry.row.querySelector(".file-outcome").replaceChildren(document.adoptNode(outcome));
  for (const error of outcome.querySelectorAll("[data-error-field]")) {
    showFieldError(error.dataset.errorField.split(".")[0], error.dataset.error);
  }
}

function trouble(status) {
  if (isStopped) return "Stopped. If it had arrived already, it is in the list of uploads.";
  if (status === 0) return "The server was not reached, or the file changed since it was chosen. Try again.";
  if (status === 413) return "The server takes no file as large as this.";
  if (status === 507) return "The disk of the server is full, so nothing was stored. Tell whoever runs it.";
  if (status === 503) return "The server cannot do this now. Try again in a moment.";
  if (status < 400 || status === 401) return "You are no longer signed in. Load the page again and sign in; what was uploaded is safe.";
  return `The server answered ${status}. Load the page again, then try again.`;
}

function tell(entry, sentence) {
  const text = document.createElement("p");
  text.className = "error";
  text.textContent = sentence;
  entry.row.querySelector(".file-outcome").replaceChildren(text);
}

function setBusy(isBusy) {
  for (const button of stepButtons) button.disabled = isBusy;
  for (const button of list.querySelectorAll("[data-remove]")) button.disabled = isBusy;
  stopButton.hidden = !isBusy;
}

function tellSum() {
  const states = entries.map((entry) => entry.row.querySelector("[data-outcome]")?.dataset.outcome);
  const count = (...names) => states.filter((state) => names.includes(state)).length;
  const parts = [
    [count("imported", "partial", "queued", "importing"), "uploaded"],
    [count("checked"), "understood"],
    [count("duplicate"), "known already"],
    [count("incomplete"), "incomplete"],
    [count("refused"), "refused"],
    [states.filter((state) => !state).length, "to do"],
  ];
  const told = parts.filter(([number]) => number).map(([number, word]) => `${number} ${word}`);
  if (waiting.length) told.push(`${waiting.map((file) => shown(file.name)).join(", ")} without the result it lies beside`);
  sum.textContent = told.join(", ");
}

stopButton.addEventListener("click", () => {
  isStopped = true;
  request?.abort();
});
window.addEventListener("beforeunload", (event) => {
  if (request) event.preventDefault();
});

// --- errors at their fields ---

function showFieldError(name, message) {
  const field = form.querySelector(`.field[data-field="${CSS.escape(name)}"]`);
  if (!field) return;
  field.classList.add("has-errors");
  if ([...field.querySelectorAll(".error")].some((error) => error.textContent === message)) return;
  const error = document.createElement("p");
  error.className = "error";
  error.textContent = message;
  field.append(error);
  const fold = field.closest("details");
  if (fold) fold.open = true;
}

function clearFieldErrors() {
  for (const field of form.querySelectorAll(".field.has-errors")) {
    field.classList.remove("has-errors");
    field.querySelectorAll(".error").forEach((error) => error.remove());
  }
}

// What was understood before the form changed may no longer hold.
form.addEventListener("input", (event) => {
  if (event.target.type === "file") return;
  for (const entry of entries) {
    if (!entry.isStored) entry.row.querySelector(".outcome")?.classList.add("is-stale");
  }
});

// --- a mapping from a file ---

for (const input of form.querySelectorAll("[data-fills]")) {
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    clearFieldErrors();
    if (file.size > MOST_MAPPING_BYTES) {
      showFieldError("path_map", `${shown(file.name)} is too large for a mapping.`);
      return;
    }
    const field = document.getElementById(input.dataset.fills);
    field.value = await file.text();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
}
