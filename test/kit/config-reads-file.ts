/** File of a run in which all test processes note the configuration leaves that product code read. */
export const configReadsFile = 'config-reads.txt';
