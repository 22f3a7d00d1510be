import CMessages
import Messages

extension Voucher: WireMessage {
    typealias Form = Imagebus__V1__Voucher
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__voucher__init }
    static var blank: Self { Self(number: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&number, &wire.pointee.number, "Voucher.number")
        var nanoseconds = until?.nanoseconds ?? 0
        try map.number(&nanoseconds, &wire.pointee.until, "Voucher.until")
        until = nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds)
    }
}

extension UsedVouchers: WireMessage {
    typealias Form = Imagebus__V1__Used
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__used__init }
    static var blank: Self { Self(loads: 0, numbers: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.counted(&loads, &wire.pointee.loads, "Used.loads")
        try map.numbers(
            &numbers, &wire.pointee.n_vouchers, &wire.pointee.vouchers, "Used.vouchers",
            limit: MessageLimits.idsMax, least: 1)
    }
}
