/** Limit of the resources that one session or stream can subscribe to. A session stores the URI of each. */
export const SUBSCRIPTIONS_MAX = 1_000;
