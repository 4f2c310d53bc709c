// Folders read and packed in the browser: a tar archive, compressed by gzip where the browser can.

const BLOCK = 512;
const MOST_NAME_BYTES = 100;
const encoder = new TextEncoder();

// What version control and file managers leave behind; the server would leave it alone, too.
function isHidden(path) {
  return path.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
}

// The files of a dropped folder as [{path, file}]; paths begin with the name of the folder.
export async function filesOfFolder(entry, most) {
  const found = [];
  const waiting = [entry];
  while (waiting.length && found.length <= most) {
    const one = waiting.pop();
    if (isHidden(one.name)) continue;
    const path = one.fullPath.replace(/^\//, "");
    if (one.isFile) found.push({ path, file: await new Promise((resolve, reject) => one.file(resolve, reject)) });
    else waiting.push(...(await entriesOf(one)));
  }
  return found;
}

async function entriesOf(folder) {
  const reader = folder.createReader();
  const all = [];
  // A browser gives a hundred at a time.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return all;
    all.push(...some);
  }
}

// The same of a folder that was chosen.
export function filesOfPicker(files) {
  const all = [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return all.filter(({ path }) => !isHidden(path));
}

// An archive of the files, the same for the same files. Beyond `mostBytes` the rest are empty: their names count. A file
// that is empty itself has a line then.
export async function pack(files, name, { mostBytes = Infinity, onFile = () => {} } = {}) {
  const sorted = [...files].sort((one, other) => (one.path < other.path ? -1 : 1));
  const canCompress = "CompressionStream" in window;
  let number = 0;
  let bytes = 0;
  async function* chunks() {
    for (const { path, file } of sorted) {
      bytes += file.size;
      const whole = file.size || mostBytes === Infinity ? file : new Blob(["\n"]);
      const content = bytes > mostBytes ? new Uint8Array() : new Uint8Array(await whole.arrayBuffer());
      yield* entry(path, content);
      onFile((number += 1), sorted.length);
    }
    yield new Uint8Array(2 * BLOCK);
  }
  const stream = new ReadableStream(puller(chunks()));
  const packed = canCompress ? stream.pipeThrough(new CompressionStream("gzip")) : stream;
  const blob = await new Response(packed).blob();
  return new File([blob], canCompress ? `${name}.tar.gz` : `${name}.tar`);
}

function puller(iterator) {
  return {
    async pull(controller) {
      const { value, done } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  };
}

function* entry(path, content) {
  const name = encoder.encode(path);
  if (name.length > MOST_NAME_BYTES || name.length !== path.length) {
    // A pax header says the name that the old one has no room or no letters for.
    const record = paxRecord(path);
    yield* withContent(header(encoder.encode("name"), record.length, "x"), record);
  }
  yield* withContent(header(name.slice(0, MOST_NAME_BYTES), content.length, "0"), content);
}

function* withContent(head, content) {
  yield head;
  if (!content.length) return;
  yield content;
  const rest = content.length % BLOCK;
  if (rest) yield new Uint8Array(BLOCK - rest);
}

function paxRecord(path) {
  const text = encoder.encode(` path=${path}\n`);
  // Its length counts its own digits.
  let length = text.length + 1;
  while (length !== text.length + String(length).length) length = text.length + String(length).length;
  return encoder.encode(`${length} path=${path}\n`);
}

function header(name, size, type) {
  const head = new Uint8Array(BLOCK);
  const put = (offset, text) => head.set(encoder.encode(text), offset);
  head.set(name, 0);
  put(100, "0000644\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, "00000000000\0");
  put(148, "        ");
  put(156, type);
  put(257, "ustar\0");
  put(263, "00");
  const sum = head.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return head;
}
