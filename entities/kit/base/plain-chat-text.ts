/** Names in messages to a chat can neither mention people or channels nor make links: these three characters begin all markup. */
export function plainChatText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
