/** Whether a key of the payment provider moves real money; keys of its sandbox do not. */
export function isLivePaymentKey(key: string): boolean {
  return /^(?:sk|rk)_live_/.test(key);
}
