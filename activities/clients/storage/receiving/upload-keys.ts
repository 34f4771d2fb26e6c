/** Keys that an upload writes beside the key of its object: bytes that are not checked yet, and those after the last full part. */
const [incoming, tail] = ['.in', '.tail'] as const;

/** Key of the bytes that have not been checked yet; no link and no record ever names it. */
export function incomingKey(key: string): string {
  return key + incoming;
}

/** Key of the bytes after the last full part. */
export function tailKey(key: string): string {
  return key + tail;
}

/** Between a key and the name of a part of it, where a part is an object of its own; no key has this character. */
const partMark = '~';

/** With what the keys of the parts begin that an upload in parts stores for a key. @param id of that upload; left out: of all of them */
export function partPrefix(key: string, id?: string): string {
  return id === undefined ? key + partMark : `${key}${partMark}${id}/`;
}

/** The key of the object to which a stored key belongs. */
export function objectKey(stored: string): string {
  const [key = ''] = stored.split(partMark);
  const suffix = [incoming, tail].find((each) => key.endsWith(each)) ?? '';
  return key.slice(0, key.length - suffix.length);
}
