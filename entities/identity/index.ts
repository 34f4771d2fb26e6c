export { apiToken } from './api-token.ts';
export { emailVerification } from './email-verification.ts';
export { externalIdentity } from './external-identity.ts';
export { passkey } from './passkey.ts';
export { passwordReset } from './password-reset.ts';
export { personalAccessToken } from './personal-access-token.ts';
export { session } from './session.ts';
export { user } from './user.ts';
