# Where each shell looks.  Debian's zsh looks in vendor-completions for what a package
# brings: make zshcompletiondir=/usr/share/zsh/vendor-completions
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = %D%/bash/stray
dist_zshcompletion_DATA = %D%/zsh/_stray
dist_fishcompletion_DATA = %D%/fish/stray.fish
