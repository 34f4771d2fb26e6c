/** Whether an event is signed with the secret of the app, in constant time. The library is loaded when the first one arrives. */
export async function hasEventSignature(body: Buffer, signature: unknown, secret: string): Promise<boolean> {
  if (typeof signature !== 'string' || signature === '' || body.length === 0) return false;
  const { verify } = await import('@octokit/webhooks-methods');
  return verify(secret, body.toString(), signature);
}
