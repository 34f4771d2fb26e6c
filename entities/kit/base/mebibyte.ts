/** Bytes of a mebibyte: settings in megabytes count in it. */
export const mebibyte = 1_048_576;
