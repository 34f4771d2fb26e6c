/** Bytes of a mebibyte: settings in megabytes use this unit. */
export const mebibyte = 1_048_576;

const decimals = new Intl.NumberFormat('en', { maximumFractionDigits: 1, useGrouping: false });

/** A size for people: in MB, as settings count them; what is shorter than one in KB or bytes. */
export function sizeText(bytes: number): string {
  if (bytes >= mebibyte) return `${decimals.format(bytes / mebibyte)} MB`;
  return bytes >= 1_024 ? `${decimals.format(bytes / 1_024)} KB` : `${bytes} bytes`;
}
