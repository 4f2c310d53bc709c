// What the names of chosen files are taken for: shown, corrected, and counted while it is corrected.

const box = document.getElementById("guesses");
const form = document.getElementById("upload-form");
const REQUIRED = ["product", "version", "hardware", "workload"];
// Fields of the form that hold for all files and may be filled in by a guess.
const field = (name) => form.elements[name];
const PATTERNS = ["pattern", "path_map", "companion_pattern"];

let guessedPattern = null;
// A pattern or a mapping that somebody typed is not replaced by a guess.
let isTyped = false;
let onCorrection = () => {};

export function corrected(callback) {
  onCorrection = callback;
}

// The pattern and the mapping are for the files that were looked into; a pattern that somebody typed is for all.
export function isGuessed() {
  return guessedPattern !== null && field("pattern").value === guessedPattern;
}

// The form as it is sent to be looked into, without the files.
export function asked() {
  const data = new FormData(form);
  for (const name of ["file", "pasted", "companion", "configuration_file"]) data.delete(name);
  if (isGuessed()) for (const name of PATTERNS) data.delete(name);
  // What nobody typed this time gives way to what names say.
  for (const input of form.querySelectorAll("[data-filled]")) data.delete(input.name);
  if (isTyped) data.append("is_given", "1");
  data.append("step", "guess");
  return data;
}

// --- a guess comes in ---

export function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("[data-guesses]");
  if (!fresh) return null;
  box.replaceChildren(document.adoptNode(fresh));
  const guess = JSON.parse(box.querySelector("script[type='application/json']")?.textContent ?? "null");
  if (!guess) return null;
  forget();
  if (guess.is_guessed && !isTyped) {
    field("pattern").value = guessedPattern = guess.pattern;
    writeMap(guess.parts);
    field("companion_pattern").value = guess.companion_patterns.join("\n");
  }
  for (const [name, value] of Object.entries(guess.fields)) fillIn(name, value);
  for (const [name, value] of Object.entries(guess.last_resort)) {
    if (!field(name).value) fillIn(name, value, "the name of the file");
  }
  count();
  return guess;
}

export function hide() {
  box.replaceChildren();
  forget();
}

// What was guessed from other files holds no longer.
function forget() {
  if (isGuessed()) {
    for (const name of PATTERNS) field(name).value = "";
  }
  guessedPattern = null;
  for (const input of form.querySelectorAll("[data-filled=guessed]")) {
    input.value = "";
    unmark(input);
  }
}

function fillIn(name, value, sentence = "guessed, for the reason below") {
  const input = field(name);
  if (!input || (input.value && !input.dataset.filled)) return;
  input.value = value;
  mark(input, "guessed", sentence);
}

// The server lets the file win over what nobody typed.
function remember(name, text) {
  const all = JSON.parse(form.elements.remembered.value || "{}");
  if (text === undefined) delete all[name];
  else all[name] = text;
  form.elements.remembered.value = JSON.stringify(all);
}

export function mark(input, kind, sentence) {
  unmark(input);
  remember(input.name, input.value);
  input.dataset.filled = kind;
  const note = document.createElement("span");
  note.className = "filled-note";
  note.textContent = sentence;
  input.closest(".field")?.querySelector("label")?.after(note);
}

function unmark(input) {
  remember(input.name);
  delete input.dataset.filled;
  input.closest(".field")?.querySelector(".filled-note")?.remove();
}

form.addEventListener("input", ({ target }) => {
  if (target.closest("#guesses")) return;
  if (target.dataset.filled) unmark(target);
  if (PATTERNS.includes(target.name)) isTyped = PATTERNS.some((name) => field(name).value.trim());
  count();
});

// Whether the guesses hang on this field, so that they are made again once it says something else.
export function hangsOn(target) {
  return PATTERNS.includes(target.name) || [...box.querySelectorAll("input[data-part]")].some((input) => input.dataset.field === target.name && input.value);
}

// --- corrections ---

function readMap() {
  const text = field("path_map").value.trim();
  return text ? JSON.parse(text) : {};
}

function writeMap(map) {
  field("path_map").value = Object.keys(map).length ? JSON.stringify(map, null, 1) : "";
}

// Keep what the mapping says of this part or path, and set or take away one field of it.
function correct(map, name, text, changed, value) {
  const all = (map[name] ??= {});
  const own = typeof all[text] === "string" ? { [name]: all[text] } : { ...all[text] };
  if (value) own[changed] = value;
  else delete own[changed];
  all[text] = own;
  if (name === "path" && !Object.keys(own).length) delete all[text];
  if (!Object.keys(all).length) delete map[name];
}

box.addEventListener("change", ({ target }) => {
  const { field: name, part, text, path } = target.dataset;
  if (!name) return;
  const message = box.querySelector("[data-trouble]");
  message.textContent = "";
  let map;
  try {
    map = readMap();
  } catch {
    message.textContent = "The mapping below is no JSON, so nothing was corrected.";
    return;
  }
  const value = target.value.trim();
  const isForAll = part && box.querySelector("[name=holds]:checked")?.value !== "one";
  correct(map, isForAll ? part : "path", isForAll ? text : path, name, value);
  writeMap(map);
  if (isForAll) {
    for (const input of box.querySelectorAll("input[data-field]")) {
      const same = input.dataset.field === name && input.dataset.part === part && input.dataset.text === text;
      if (same) input.value = value;
    }
  }
  count();
  onCorrection();
});

// --- how many are complete ---

function count() {
  const table = box.querySelector("tbody");
  const summary = box.querySelector("[data-summary]");
  if (!table || !summary) return;
  const unlistedIn = (name) => (field(name).value.trim() ? 0 : Number(summary.dataset[`unlisted${name}`] ?? 0));
  const missing = Object.fromEntries(REQUIRED.map((name) => [name, unlistedIn(name)]));
  let complete = 0;
  for (const row of table.rows) {
    let isComplete = true;
    for (const input of row.querySelectorAll("input[data-field]")) {
      const name = input.dataset.field;
      const ofAll = field(name)?.value.trim() ?? "";
      input.placeholder = ofAll || (REQUIRED.includes(name) ? "missing" : "");
      const isMissing = REQUIRED.includes(name) && !input.value.trim() && !ofAll;
      input.classList.toggle("is-missing", isMissing);
      if (isMissing) {
        missing[name] += 1;
        isComplete = false;
      }
    }
    if (isComplete) complete += 1;
  }
  const number = Number(summary.dataset.files);
  // Where nothing is missing in the files that are not listed, they are complete, too.
  const unlisted = REQUIRED.some(unlistedIn) ? 0 : number - table.rows.length;
  const counted = table.rows.length + unlisted;
  const parts = [`${complete + unlisted} of ${counted} ${counted === 1 ? "file is" : "files are"} complete`];
  for (const name of REQUIRED) {
    if (!missing[name]) continue;
    const where = missing[name] === number ? `all ${number} files` : `${missing[name]} of ${number} files`;
    parts.push(`${name} is missing${number === 1 ? "" : ` in ${where}`}`);
  }
  summary.textContent = `${parts.join(", ")}.`;
  summary.classList.toggle("is-complete", complete === table.rows.length);
}
