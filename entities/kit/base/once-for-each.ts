/** A function whose result depends on nothing but an object that does not change: it is made at the first call for each, and kept as long as that. */
export function onceForEach<Of extends object, Result extends object>(make: (of: Of) => Result): (of: Of) => Result {
  const made = new WeakMap<Of, Result>();
  return (of) => {
    const known = made.get(of);
    if (known) return known;
    const result = make(of);
    made.set(of, result);
    return result;
  };
}
