/** Fixed secrets of test installations; recorded workflow histories were encrypted with this key. */
export const testSecrets = {
  signingKey: 'test-signing-key-0123456789abcdef0123456789',
  encryptionKey: 'test-encryption-key-0123456789abcdef0123456',
  totpSecret: 'test-totp-secret-0123456789abcdef0123456789',
  /** Of people that tests build. */
  password: 'correct horse battery staple',
} as const;
