/** Paths of the pages that others lead to. A page has the path of the request that its form sends. */
export const pagePaths = {
  signIn: '/v1/login',
  signUp: '/v1/register',
  forgotPassword: '/v1/forgot-password',
  resend: '/v1/resend',
  invite: '/v1/invite',
  connected: '/v1/integrations/connected',
} as const;
