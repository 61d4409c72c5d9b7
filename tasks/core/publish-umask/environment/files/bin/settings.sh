# To be sourced, not run: . bin/settings.sh
export PUBLISH_FROM="pages"
export PUBLISH_EDITION="spring-$(( 2000 + 31 ))"
export PUBLISH_SIGN="river"
