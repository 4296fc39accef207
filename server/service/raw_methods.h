#ifndef EMBD_SERVER_SERVICE_RAW_METHODS_H_
#define EMBD_SERVER_SERVICE_RAW_METHODS_H_

namespace embd::service {

template <typename Service, template <typename> class... Methods>
struct RawMethodsOf;

template <typename Service>
struct RawMethodsOf<Service> {
  using Type = Service;
};

template <typename Service, template <typename> class First, template <typename> class... Rest>
struct RawMethodsOf<Service, First, Rest...> {
  using Type = First<typename RawMethodsOf<Service, Rest...>::Type>;
};

/// A generated service whose named methods, each given as its `WithRawCallbackMethod_…`, take and give byte buffers.
template <typename Service, template <typename> class... Methods>
using RawMethods = typename RawMethodsOf<Service, Methods...>::Type;

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_RAW_METHODS_H_
