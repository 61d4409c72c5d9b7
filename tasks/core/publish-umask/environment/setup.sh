#!/bin/bash
# Makes archive/ with the modes that years of carelessness gave it.
set -euo pipefail
make() { mkdir -p "$(dirname "$2")"; printf '%s\n' "$3" > "$2"; chmod "$1" "$2"; }
make 644 archive/index.csv 'year;title'
make 666 archive/2029/minutes.txt 'All were present.'
make 755 archive/2029/convert.sh 'echo convert'
make 600 archive/2029/budget.csv 'rent;900'
make 700 archive/2029/tools/thumbnails 'echo thumbnails'
make 664 archive/2029/tools/thumbnails.conf 'width=90'
make 611 archive/2029/tools/notes.txt 'Others could execute this, its owner never could.'
make 644 archive/2030/private/letters.txt 'Dear Ida'
make 755 archive/2030/private/decrypt 'echo decrypt'
make 660 archive/2030/private/keys/ring.txt 'ring 4'
make 777 archive/2030/minutes.txt 'Executable by all, and so it stays for its owner.'
make 640 archive/2030/private-notes/list.txt 'Not a private folder.'
make 604 'archive/2030/photo list.txt' 'one, two'
mkdir archive/2030/empty
chmod 777 archive/2029 archive/2029/tools archive/2030/empty
chmod 711 archive/2030 archive/2030/private
chmod 775 archive/2030/private/keys
chmod 700 archive/2030/private-notes
