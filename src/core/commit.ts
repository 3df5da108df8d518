/** The commit of the binary. The build replaces this variable with the commit. A program that runs from source has no commit. */
export const COMMIT: string = process.env.ZOMMA_BUILD_COMMIT ?? 'source';
