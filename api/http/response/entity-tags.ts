/** Whether If-None-Match names the entity tag; weak tags count (RFC 9110, section 13.1.2). */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()));
}
