import tseslint from 'typescript-eslint';

/** The rules that matter here need types: a forgotten `await` on a query is a wrong verdict. */
export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'evidence/**'] },
  {
    files: ['compliance/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    // House rule: the command's edge is one file.
    files: ['compliance/**/*.ts'],
    ignores: [
      'compliance/edge.ts',
      'compliance/**/*.test.ts',
      'compliance/checks/claimers/worker.ts',
    ],
    rules: { 'no-console': 'error', 'no-restricted-globals': ['error', 'process'] },
  },
);
