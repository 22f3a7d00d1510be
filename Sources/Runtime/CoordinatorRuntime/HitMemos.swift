/// What is remembered of loads at each listener: the same bytes are another load where other rules
/// hold (`RestrictedFront`).
struct HitMemos {
    private var ofClients = HitMemo()
    private var ofStrangers = HitMemo()

    subscript(listener: Listener) -> HitMemo {
        _read {
            if listener == .web { yield ofStrangers } else { yield ofClients }
        }
        _modify {
            if listener == .web { yield &ofStrangers } else { yield &ofClients }
        }
    }
}
