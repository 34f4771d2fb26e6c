import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The IPv4 and IPv6 addresses a process listens on, by TCP; IPv6 ones in hexadecimal. */
export function listeningAddresses(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((descriptor) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1];
      } catch {
        return undefined; // Closed between listing and looking.
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && inodes.has(fields[9]))
      .map((fields) => dotted(fields[1]?.split(':')[0] ?? '')),
  );
}

/** The kernel prints an IPv4 address as one little-endian number. */
function dotted(hex: string): string {
  return hex.length === 8 ? Buffer.from(hex, 'hex').toReversed().join('.') : hex;
}
