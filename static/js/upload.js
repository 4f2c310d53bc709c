// The upload form: files, folders and pasted texts, looked into, sent one after another, and what became of each.

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

const folderPicker = form.querySelector("[data-folder]");
const pasted = form.elements.pasted;
const box = form.querySelector(".guesses");
const looking = form.querySelector("[data-looking]");
const missing = form.querySelector("[data-missing]");
const end = form.querySelector("[data-end]");

// No script writes an address: those of the modules stand in the page.
const packing = import(form.dataset.packing);
const guesses = import(form.dataset.guesses);

const MOST_BYTES = Number(form.dataset.mostBytes);
const BESIDE = form.dataset.beside.split(" ");
const CONFIGURATIONS = form.dataset.configurations.split(" ");
const ARCHIVES = form.dataset.archives.split(" ");
const MOST_FILES = Number(form.dataset.mostFiles);
const MOST_UNPACKED = Number(form.dataset.mostUnpacked);
const MOST_MAPPING_BYTES = 1_000_000;
// Of more than this only the names are looked at before the upload.
const MOST_LOOK_BYTES = 20_000_000;
const PASTED = "pasted.txt";
// Of the box that shows what the files are taken for, in pixels.
const GUESS_HEIGHT = 210;
const GUESS_ROW = 38;
const MOST_ROWS = 7;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// One entry per result: {file, beside: [File], row, isStored}. Of a folder `files` are what it holds, and `file` is
// the archive of them once it is packed (`ready`). A file that lies beside a result which was not chosen yet waits
// in `waiting`.
let entries = [];
let waiting = [];
let request = null;
let isStopped = false;
let isBusy = false;
// What was last looked into: a promise, and the answer of the server.
let look = Promise.resolve();
let lookNumber = 0;
let lookTimer = 0;
let guess = null;

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
  lookSoon();
}

function isArchive(file) {
  return ARCHIVES.some((suffix) => file.name.toLowerCase().endsWith(suffix));
}

function addEntry(file) {
  // The results come from this page now: nothing may lead away from it.
  for (const id of ["first-wait", "first-steps"]) document.getElementById(id)?.remove();
  end.replaceChildren();
  form.classList.add("has-files");
  if (isArchive(file)) form.querySelector(".archive-fields").open = true;
  const row = rowTemplate.content.firstElementChild.cloneNode(true);
  row.dataset.entry = "";
  row.querySelector(".file-title").textContent = shown(file.name);
  row.querySelector(".file-size").textContent = sizeInWords(file.size);
  row.querySelector("[data-remove]").setAttribute("aria-label", `Remove ${shown(file.name)}`);
  const entry = { file, beside: [], row, isStored: false };
  row.querySelector("[data-remove]").addEventListener("click", () => {
    if (entry.isPasted) pasted.value = "";
    remove(entry);
    lookSoon();
  });
  entries.push(entry);
  list.append(row);
  return entry;
}

function remove(entry) {
  entries = entries.filter((one) => one !== entry);
  entry.row.remove();
  tellSum();
}

async function addFolder(name, read) {
  zoneError.textContent = "";
  const entry = addEntry(new File([], name));
  entry.files = [];
  const note = entry.row.querySelector(".file-outcome");
  note.textContent = "reading the folder";
  entry.ready = (async () => {
    const { pack } = await packing;
    entry.files = await read();
    const bytes = entry.files.reduce((sum, { file }) => sum + file.size, 0);
    const trouble = troubleOfFolder(entry.files.length, bytes);
    if (trouble) throw new Error(trouble);
    entry.file = await pack(entry.files, name, {
      onFile: (number, all) => (note.textContent = `packing, ${number} of ${all} files`),
    });
    entry.row.querySelector(".file-title").textContent = shown(name);
    entry.row.querySelector(".file-size").textContent = `${entry.files.length} files, ${sizeInWords(bytes)}, packed ${sizeInWords(entry.file.size)}`;
    note.textContent = "not checked yet";
  })();
  try {
    await entry.ready;
  } catch (error) {
    // What a browser says of a file that it cannot read is no sentence for people.
    zoneError.textContent = `${shown(name)}: ${error.name === "Error" ? error.message : "a file of the folder cannot be read. Drop it again."}`;
    remove(entry);
  }
  lookSoon();
}

function troubleOfFolder(number, bytes) {
  if (!number) return "the folder holds no files.";
  if (number > MOST_FILES) return `the folder holds more than ${MOST_FILES} files, the most that an archive may hold. Send a part of it.`;
  if (bytes > MOST_UNPACKED) return `its files are ${sizeInWords(bytes)}, more than the ${sizeInWords(MOST_UNPACKED)} that an archive may hold. Send a part of it.`;
  return "";
}

// The pasted text is a file like the others, as long as it stands in its field.
function takePasted() {
  const entry = entries.find((one) => one.isPasted && !one.isStored);
  if (!pasted.value.trim()) {
    if (entry) remove(entry);
    return;
  }
  // Its last line is whole, though a selection has no line end there.
  const file = new File([`${pasted.value.replace(/\n$/, "")}\n`], PASTED);
  if (entry) entry.file = file;
  else addEntry(file).isPasted = true;
  const row = entries.find((one) => one.isPasted && !one.isStored).row;
  row.querySelector(".file-size").textContent = sizeInWords(file.size);
  tellSum();
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
  const folderOf = (item) => {
    const entry = item.webkitGetAsEntry?.();
    return entry?.isDirectory ? entry : null;
  };
  const files = items.filter((item) => !folderOf(item)).map((item) => item.getAsFile());
  return { files, folders: items.map(folderOf).filter(Boolean) };
}

folderPicker.addEventListener("change", () => {
  const chosen = [...folderPicker.files];
  folderPicker.value = "";
  if (!chosen.length) return;
  const name = chosen[0].webkitRelativePath.split("/")[0] || "folder";
  addFolder(name, async () => (await packing).filesOfPicker(chosen));
});
pasted.addEventListener("input", () => {
  takePasted();
  lookSoon(300);
});
// A paste anywhere but in a field is meant for this one.
document.addEventListener("paste", (event) => {
  if (event.target.closest("input, textarea, [contenteditable]") || request) return;
  const files = [...event.clipboardData.files];
  const text = event.clipboardData.getData("text/plain");
  if (files.length) add(files);
  else if (text.trim()) {
    pasted.value = text;
    takePasted();
    lookSoon();
  }
});
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
  const { files, folders } = filesOf(event.dataTransfer);
  if (files.length) add(files);
  for (const folder of folders) addFolder(folder.name, async () => (await packing).filesOfFolder(folder, MOST_FILES));
});

// --- looking into the files, before they are sent ---

// Nothing moves when the answer comes in: its place is there before.
function reserve(open) {
  const files = open.some((entry) => entry.files || isArchive(entry.file)) ? MOST_ROWS : Math.min(open.length, MOST_ROWS);
  box.style.height = open.length ? `${GUESS_HEIGHT + files * GUESS_ROW}px` : "";
}

function lookSoon(wait = 0) {
  reserve(entries.filter((entry) => !entry.isStored));
  clearTimeout(lookTimer);
  const number = (lookNumber += 1);
  look = new Promise((resolve) => {
    lookTimer = setTimeout(() => lookInto(number).finally(resolve), wait);
  });
}

async function lookInto(number) {
  const { show, hide, asked } = await guesses;
  const open = entries.filter((entry) => !entry.isStored);
  reserve(open);
  if (!open.length) {
    guess = null;
    hide();
    looking.textContent = "";
    return;
  }
  looking.textContent = "Looking into the files";
  const file = await whatToLookInto(open);
  if (number !== lookNumber) return;
  looking.textContent = "";
  if (!file) return;
  const data = asked();
  data.append("file", file);
  let text = "";
  try {
    const headers = { "X-Requested-With": "upload.js" };
    text = await (await fetch(form.getAttribute("action"), { method: "POST", body: data, headers })).text();
  } catch {
    // Without an answer there are no guesses; Check and Upload say what is wrong.
  }
  if (number !== lookNumber) return;
  guess = show(text);
  if (guess) pairByContent(guess.beside);
}

async function whatToLookInto(open) {
  const whole = open.find((entry) => entry.files || isArchive(entry.file));
  const { pack } = await packing;
  if (whole?.files) {
    await whole.ready.catch(() => {});
    if (!whole.row.isConnected) return null;
    if (whole.file.size <= MOST_LOOK_BYTES) return whole.file;
    return pack(whole.files, "names", { mostBytes: MOST_LOOK_BYTES });
  }
  if (whole) return whole.file.size <= MOST_LOOK_BYTES ? whole.file : null;
  const files = [...open.flatMap((entry) => [entry.file, ...entry.beside]), ...waiting];
  return pack(files.map((file) => ({ path: file.name, file })), "files", { mostBytes: MOST_LOOK_BYTES });
}

// The server knows by their content what lies beside a result.
function pairByContent(beside) {
  for (const [path, names] of Object.entries(beside)) {
    const owner = entries.find((entry) => !entry.isStored && !entry.files && entry.file.name === path);
    for (const name of owner ? names : []) {
      const other = entries.find((entry) => !entry.isStored && entry.file.name === name);
      if (!other) continue;
      remove(other);
      owner.companions = [...(owner.companions ?? []), other.file];
      const all = [...owner.beside, ...owner.companions];
      owner.row.querySelector(".file-beside").textContent = `with ${all.map((one) => shown(one.name)).join(", ")}`;
    }
  }
}

// A guessed pattern is for the files that were looked into, and none of it is for what came after them.
function withoutForeignGuesses(data, entry, isGuessed) {
  if (!isGuessed || entry.files || isArchive(entry.file)) return;
  data.delete("companion_pattern");
  if (guess?.results.includes(entry.file.name)) return;
  for (const name of ["pattern", "path_map"]) data.delete(name);
}

// --- sending ---

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (request || isBusy) return;
  const step = event.submitter?.value ?? "check";
  setBusy(true);
  takePasted();
  await look;
  setBusy(false);
  // An answer to a question is for its file.
  const asking = event.submitter?.closest("[data-entry]");
  const open = entries.filter((entry) => !entry.isStored && (!asking || entry.row === asking));
  zoneError.textContent = open.length ? "" : "Choose a result file first.";
  if (!open.length) {
    picker.focus();
    return;
  }
  clearFieldErrors();
  isStopped = false;
  setBusy(true);
  for (const [index, entry] of open.entries()) {
    if (isStopped) break;
    sum.textContent = `${index + 1} of ${open.length}`;
    await send(entry, step, index === open.length - 1);
  }
  setBusy(false);
  tellSum();
  tellMissing();
  if (entries.every((entry) => entry.isStored)) {
    for (const input of box.querySelectorAll("input")) input.disabled = true;
  }
  form.querySelector(".has-errors :is(input, textarea, select)")?.focus();
  end.querySelector("a")?.focus();
  if (entries.length === 1) lookAt(entries[0].row);
});

// A job that imports the only file has its progress on a page of its own.
function lookAt(row) {
  const follow = row.querySelector("[data-follow]")?.dataset.follow;
  if (follow) location.assign(follow);
  else if (row.querySelector(".file-table")) row.scrollIntoView({ block: "nearest" });
}

async function send(entry, step, isLast) {
  const progress = entry.row.querySelector("progress");
  if (entry.file.size > MOST_BYTES) {
    tell(entry, `The file is larger than ${sizeInWords(MOST_BYTES)}, the most that this installation takes.`);
    return;
  }
  const data = new FormData(form);
  for (const name of ["file", "pasted"]) data.delete(name);
  withoutForeignGuesses(data, entry, (await guesses).isGuessed());
  for (const file of [entry.file, ...entry.beside]) data.append("file", file);
  for (const file of entry.companions ?? []) data.append("companion", file);
  const [what, choice = entry.choice] = step.split(" ");
  entry.choice = choice;
  data.append("step", choice ? `${what} ${choice}` : what);
  // The answer to the last file leads to all of them.
  const stored = isLast && what === "upload" ? entries.filter((other) => other.isStored) : [];
  data.append("sent", stored.map((other) => other.id).join(" "));
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
    const finish = ({ target }) => {
      request = null;
      resolve({ status: target.status, text: target.responseText });
    };
    for (const name of ["load", "error", "abort", "timeout"]) request.addEventListener(name, finish);
    request.send(data);
  });
}

function take(entry, { status, text }) {
  const answer = new DOMParser().parseFromString(text, "text/html");
  const outcome = answer.querySelector("[data-outcome]");
  if (!outcome) {
    tell(entry, trouble(status));
    return;
  }
  entry.id = outcome.dataset.stored;
  entry.isStored = entry.id !== undefined;
  const done = answer.querySelector("[data-done]");
  if (done) end.replaceChildren(document.adoptNode(done));
  if (entry.isStored && entry.isPasted) pasted.value = "";
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

function setBusy(isNow) {
  isBusy = isNow;
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
    [count("contradicted"), "to be answered"],
    [count("refused"), "refused"],
    [states.filter((state) => !state).length, "to do"],
  ];
  const told = parts.filter(([number]) => number).map(([number, word]) => `${number} ${word}`);
  if (waiting.length) told.push(`${waiting.map((file) => shown(file.name)).join(", ")} without the result it lies beside`);
  sum.textContent = told.join(", ");
}

// Once for all files, and not once for each.
function tellMissing() {
  const rows = entries.map((entry) => entry.row).filter((row) => row.querySelector("[data-error-field]"));
  const counts = new Map();
  for (const error of rows.flatMap((row) => [...row.querySelectorAll("[data-error-field][hidden]")])) {
    counts.set(error.dataset.errorField, (counts.get(error.dataset.errorField) ?? 0) + 1);
  }
  const told = [...counts].map(([name, number]) => `${name} is missing${entries.length > 1 ? ` in ${number} of ${entries.length} files` : ""}`);
  missing.textContent = told.length ? `${told.join(", ")}.` : "";
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
    entry.choice = undefined;
    if (!entry.isStored) entry.row.querySelector(".outcome")?.classList.add("is-stale");
  }
});
guesses.then(({ corrected, hangsOn }) => {
  corrected(() => form.dispatchEvent(new Event("input")));
  form.addEventListener("change", ({ target }) => {
    if (!target.closest("#guesses") && hangsOn(target) && entries.some((entry) => !entry.isStored)) lookSoon();
  });
});

// --- what was said the last time ---

if ("remembered" in form.dataset) {
  guesses.then(({ mark }) => {
    for (const input of form.querySelectorAll(".said-fields :is(input, textarea, select)")) {
      if (input.value) mark(input, "remembered", "as the last time");
    }
  });
}
form.querySelector("[data-empty]")?.addEventListener("click", ({ target }) => {
  for (const input of form.querySelectorAll("[data-filled], .archive-fields :is(input:not([type=file]), textarea)")) {
    input.value = "";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }
  target.closest("[data-remembered-note]").remove();
  lookSoon();
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
