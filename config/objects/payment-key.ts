/** Whether a key of the payment provider is for real money or for its sandbox; undefined for a key of another form. */
export function paymentKeyMode(key: string): 'live' | 'test' | undefined {
  const [, mode] = /^[a-z]+_(live|test)_/.exec(key) ?? [];
  return mode as 'live' | 'test' | undefined;
}
