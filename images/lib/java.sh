# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# JDK 25 and Maven: the machine's own if it has them, else Debian 13's, unpacked like everything else here and made to
# run on any host: their programs are given the loader and the libraries that came with them.

readonly JDK_MINIMUM=25
# The certificates that this machine trusts, with those of a company's proxy, say.
readonly TRUSTED=/etc/ssl/certs/ca-certificates.crt

# provide_java: sets JDK (what JAVA_HOME has to be) and MVN.
provide_java() {
    local -a trusted=()
    JDK=$(own_jdk)
    MVN=$(command -v mvn || true)
    if [[ -z $JDK || -z $MVN ]]; then
        [[ ! -r $TRUSTED ]] || trusted+=("$TRUSTED")
        cached java "$(content_key "$IMAGES/packages/java.list" "$IMAGES/java" "$IMAGES/lib/java.sh" "$IMAGES/lib/debs.sh" \
            "${trusted[@]}")" make_java "${trusted[@]}"
        JDK=${JDK:-$ENTRY/jdk}
        MVN=${MVN:-$ENTRY/usr/share/maven/bin/mvn}
    fi
}

# Prints the JDK that this machine has, if there is one that is new enough.
own_jdk() {
    local home
    for home in "${JAVA_HOME:-}" /usr/lib/jvm/*"$JDK_MINIMUM"* /usr/lib/jvm/*; do
        if [[ -x $home/bin/javac && -r $home/release ]] &&
            version_at_least "$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$home/release")" "$JDK_MINIMUM"; then
            printf '%s\n' "$home"
            return
        fi
    done
}

# make_java DIR [BUNDLE]
make_java() {
    local dir=$1 jdk
    shift
    unpack_debs "$dir" "$DEFAULT_RELEASE" "$IMAGES/packages/java.list"
    jdk=$(compgen -G "$dir/usr/lib/jvm/java-$JDK_MINIMUM-openjdk-*") || die 'the JDK package has no JDK in it'
    ln -s "${jdk#"$dir/"}" "$dir/jdk"
    keep_links_inside "$dir"
    say '  trust store'
    "$dir/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$jdk/lib:$dir/usr/lib/x86_64-linux-gnu" \
        "$jdk/bin/java" "$IMAGES/java/TrustStore.java" "$dir/etc/ssl/certs/java/cacerts" \
        "$dir/usr/share/ca-certificates/mozilla" "$@"
    own_loader "$dir" "$jdk"
}

# keep_links_inside DIR: links to /etc/..., say, mean the one in DIR.
keep_links_inside() {
    local link
    while IFS= read -r -d '' link; do
        ln -sfrT "$1$(readlink "$link")" "$link"
    done < <(find "$1/usr/lib/jvm" "$1/usr/share/maven" "$1/usr/share/java" -lname '/*' -print0)
}

# own_loader DIR JDK: the paths are those that the entry will have (ENTRY), not those of its making.
own_loader() {
    local dir=$1 jdk=$2 file
    local libraries=$ENTRY/usr/lib/x86_64-linux-gnu
    while IFS= read -r -d '' file; do
        [[ $(head -c 4 "$file") == $'\177ELF' ]] || continue
        [[ $file == *.so ]] || root_program "$dir" patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" "$file"
        # shellcheck disable=SC2016 # the loader's variable
        root_program "$dir" patchelf --force-rpath \
            --set-rpath '$ORIGIN:$ORIGIN/server:$ORIGIN/..:$ORIGIN/../lib:'"$libraries" "$file"
    done < <(find "$jdk/bin" "$jdk/lib" -type f \( -perm -100 -o -name '*.so' \) -print0)
}
