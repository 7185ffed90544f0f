/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in (weak) until builtin.c is merged; then this file goes. */
#include "cel/builtin.h"
static const il_cel_type tA={.kind=IL_CEL_PARAM,.name={"A",1}},tB={.kind=IL_CEL_PARAM,.name={"B",1}};
static const il_cel_type tlA={.kind=IL_CEL_LIST,.element=&tA},tmAB={.kind=IL_CEL_MAP,.key=&tA,.element=&tB},tls={.kind=IL_CEL_LIST,.element=&il_cel_type_string},toA={.kind=IL_CEL_OPTIONAL,.element=&tA},ttA={.kind=IL_CEL_TYPE,.element=&tA},tloA={.kind=IL_CEL_LIST,.element=&toA};
static const il_cel_overload o0[]={{{&il_cel_type_string},&il_cel_type_bytes}};
static const il_cel_overload o1[]={{{&il_cel_type_bytes},&il_cel_type_string}};
static const il_cel_overload o2[]={{{&il_cel_type_string},&il_cel_type_bool},{{&il_cel_type_bool},&il_cel_type_bool}};
static const il_cel_overload o3[]={{{&il_cel_type_string},&il_cel_type_bytes},{{&il_cel_type_bytes},&il_cel_type_bytes}};
static const il_cel_overload o4[]={{{&il_cel_type_string,&il_cel_type_int},&il_cel_type_string}};
static const il_cel_overload o5[]={{{&il_cel_type_string},&il_cel_type_cidr}};
static const il_cel_overload o6[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_bool},{{&tlA,&tA},&il_cel_type_bool}};
static const il_cel_overload o7[]={{{&il_cel_type_cidr,&il_cel_type_cidr},&il_cel_type_bool},{{&il_cel_type_cidr,&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o8[]={{{&il_cel_type_cidr,&il_cel_type_ip},&il_cel_type_bool},{{&il_cel_type_cidr,&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o9[]={{{&il_cel_type_int},&il_cel_type_double},{{&il_cel_type_uint},&il_cel_type_double},{{&il_cel_type_double},&il_cel_type_double},{{&il_cel_type_string},&il_cel_type_double}};
static const il_cel_overload o10[]={{{&il_cel_type_int},&il_cel_type_duration},{{&il_cel_type_string},&il_cel_type_duration},{{&il_cel_type_duration},&il_cel_type_duration}};
static const il_cel_overload o11[]={{{&tA},&il_cel_type_dyn}};
static const il_cel_overload o12[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o13[]={{{&il_cel_type_ip},&il_cel_type_int}};
static const il_cel_overload o14[]={{{&il_cel_type_string,&il_cel_type_list},&il_cel_type_string}};
static const il_cel_overload o15[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int}};
static const il_cel_overload o16[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int}};
static const il_cel_overload o17[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int}};
static const il_cel_overload o18[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int}};
static const il_cel_overload o19[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int}};
static const il_cel_overload o20[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_duration},&il_cel_type_int}};
static const il_cel_overload o21[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_duration},&il_cel_type_int}};
static const il_cel_overload o22[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_duration},&il_cel_type_int}};
static const il_cel_overload o23[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int}};
static const il_cel_overload o24[]={{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_timestamp,&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_duration},&il_cel_type_int}};
static const il_cel_overload o25[]={{{&toA},&il_cel_type_bool}};
static const il_cel_overload o26[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_string,&il_cel_type_string,&il_cel_type_int},&il_cel_type_int}};
static const il_cel_overload o27[]={{{&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint},&il_cel_type_int},{{&il_cel_type_double},&il_cel_type_int},{{&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_timestamp},&il_cel_type_int},{{&il_cel_type_duration},&il_cel_type_int}};
static const il_cel_overload o28[]={{{&il_cel_type_string},&il_cel_type_ip}};
static const il_cel_overload o29[]={{{&il_cel_type_cidr},&il_cel_type_ip}};
static const il_cel_overload o30[]={{{&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o31[]={{{&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o32[]={{{&il_cel_type_ip},&il_cel_type_bool}};
static const il_cel_overload o33[]={{{&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o34[]={{{&il_cel_type_ip},&il_cel_type_bool}};
static const il_cel_overload o35[]={{{&il_cel_type_ip},&il_cel_type_bool}};
static const il_cel_overload o36[]={{{&il_cel_type_ip},&il_cel_type_bool}};
static const il_cel_overload o37[]={{{&il_cel_type_ip},&il_cel_type_bool}};
static const il_cel_overload o38[]={{{&tls},&il_cel_type_string},{{&tls,&il_cel_type_string},&il_cel_type_string}};
static const il_cel_overload o39[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_string,&il_cel_type_string,&il_cel_type_int},&il_cel_type_int}};
static const il_cel_overload o40[]={{{&il_cel_type_string},&il_cel_type_string}};
static const il_cel_overload o41[]={{{&il_cel_type_cidr},&il_cel_type_cidr}};
static const il_cel_overload o42[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o43[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o44[]={{{&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint},&il_cel_type_uint},{{&il_cel_type_double},&il_cel_type_double}};
static const il_cel_overload o45[]={{{&il_cel_type_int,&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint,&il_cel_type_uint},&il_cel_type_uint}};
static const il_cel_overload o46[]={{{&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint},&il_cel_type_uint}};
static const il_cel_overload o47[]={{{&il_cel_type_int,&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint,&il_cel_type_uint},&il_cel_type_uint}};
static const il_cel_overload o48[]={{{&il_cel_type_int,&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint,&il_cel_type_int},&il_cel_type_uint}};
static const il_cel_overload o49[]={{{&il_cel_type_int,&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint,&il_cel_type_int},&il_cel_type_uint}};
static const il_cel_overload o50[]={{{&il_cel_type_int,&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint,&il_cel_type_uint},&il_cel_type_uint}};
static const il_cel_overload o51[]={{{&il_cel_type_double},&il_cel_type_double}};
static const il_cel_overload o52[]={{{&il_cel_type_double},&il_cel_type_double}};
static const il_cel_overload o53[]={{{&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint},&il_cel_type_uint},{{&il_cel_type_double},&il_cel_type_double},{{&tlA},&tA},{{&il_cel_type_dyn,&il_cel_type_dyn},&il_cel_type_dyn}};
static const il_cel_overload o54[]={{{&il_cel_type_double},&il_cel_type_bool}};
static const il_cel_overload o55[]={{{&il_cel_type_double},&il_cel_type_bool}};
static const il_cel_overload o56[]={{{&il_cel_type_double},&il_cel_type_bool}};
static const il_cel_overload o57[]={{{&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint},&il_cel_type_uint},{{&il_cel_type_double},&il_cel_type_double},{{&tlA},&tA},{{&il_cel_type_dyn,&il_cel_type_dyn},&il_cel_type_dyn}};
static const il_cel_overload o58[]={{{&il_cel_type_double},&il_cel_type_double}};
static const il_cel_overload o59[]={{{&il_cel_type_int},&il_cel_type_int},{{&il_cel_type_uint},&il_cel_type_uint},{{&il_cel_type_double},&il_cel_type_double}};
static const il_cel_overload o60[]={{{&il_cel_type_double},&il_cel_type_double}};
static const il_cel_overload o61[]={{{NULL},&toA}};
static const il_cel_overload o62[]={{{&tA},&toA}};
static const il_cel_overload o63[]={{{&tA},&toA}};
static const il_cel_overload o64[]={{{&tloA},&tlA}};
static const il_cel_overload o65[]={{{&toA,&toA},&toA}};
static const il_cel_overload o66[]={{{&toA,&tA},&tA}};
static const il_cel_overload o67[]={{{&il_cel_type_cidr},&il_cel_type_int}};
static const il_cel_overload o68[]={{{&il_cel_type_string,&il_cel_type_string,&il_cel_type_string},&il_cel_type_string},{{&il_cel_type_string,&il_cel_type_string,&il_cel_type_string,&il_cel_type_int},&il_cel_type_string}};
static const il_cel_overload o69[]={{{&il_cel_type_string},&il_cel_type_string}};
static const il_cel_overload o70[]={{{&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_bytes},&il_cel_type_int},{{&tlA},&il_cel_type_int},{{&tmAB},&il_cel_type_int}};
static const il_cel_overload o71[]={{{&il_cel_type_string},&il_cel_type_int},{{&il_cel_type_bytes},&il_cel_type_int},{{&tlA},&il_cel_type_int},{{&tmAB},&il_cel_type_int}};
static const il_cel_overload o72[]={{{&il_cel_type_string,&il_cel_type_string},&tls},{{&il_cel_type_string,&il_cel_type_string,&il_cel_type_int},&tls}};
static const il_cel_overload o73[]={{{&il_cel_type_string,&il_cel_type_string},&il_cel_type_bool}};
static const il_cel_overload o74[]={{{&il_cel_type_int},&il_cel_type_string},{{&il_cel_type_uint},&il_cel_type_string},{{&il_cel_type_double},&il_cel_type_string},{{&il_cel_type_string},&il_cel_type_string},{{&il_cel_type_bytes},&il_cel_type_string},{{&il_cel_type_bool},&il_cel_type_string},{{&il_cel_type_timestamp},&il_cel_type_string},{{&il_cel_type_duration},&il_cel_type_string},{{&il_cel_type_ip},&il_cel_type_string},{{&il_cel_type_cidr},&il_cel_type_string}};
static const il_cel_overload o75[]={{{&il_cel_type_string},&il_cel_type_string}};
static const il_cel_overload o76[]={{{&il_cel_type_string,&il_cel_type_int},&il_cel_type_string},{{&il_cel_type_string,&il_cel_type_int,&il_cel_type_int},&il_cel_type_string}};
static const il_cel_overload o77[]={{{&il_cel_type_int},&il_cel_type_timestamp},{{&il_cel_type_string},&il_cel_type_timestamp},{{&il_cel_type_timestamp},&il_cel_type_timestamp}};
static const il_cel_overload o78[]={{{&il_cel_type_string},&il_cel_type_string}};
static const il_cel_overload o79[]={{{&tA},&ttA}};
static const il_cel_overload o80[]={{{&il_cel_type_int},&il_cel_type_uint},{{&il_cel_type_uint},&il_cel_type_uint},{{&il_cel_type_double},&il_cel_type_uint},{{&il_cel_type_string},&il_cel_type_uint}};
static const il_cel_overload o81[]={{{&tloA},&tlA}};
static const il_cel_overload o82[]={{{&il_cel_type_string},&il_cel_type_string}};
static const il_cel_overload o83[]={{{&toA},&tA}};
static const il_cel_builtin rows[]={
{{"base64.decode",13},false,false,1,o0,NULL,NULL},
{{"base64.encode",13},false,false,1,o1,NULL,NULL},
{{"bool",4},false,false,2,o2,NULL,NULL},
{{"bytes",5},false,false,2,o3,NULL,NULL},
{{"charAt",6},true,false,1,o4,NULL,NULL},
{{"cidr",4},false,false,1,o5,NULL,NULL},
{{"contains",8},true,false,2,o6,NULL,NULL},
{{"containsCIDR",12},true,false,2,o7,NULL,NULL},
{{"containsIP",10},true,false,2,o8,NULL,NULL},
{{"double",6},false,false,4,o9,NULL,NULL},
{{"duration",8},false,false,3,o10,NULL,NULL},
{{"dyn",3},false,false,1,o11,NULL,NULL},
{{"endsWith",8},true,false,1,o12,NULL,NULL},
{{"family",6},true,false,1,o13,NULL,NULL},
{{"format",6},true,false,1,o14,NULL,NULL},
{{"getDate",7},true,false,2,o15,NULL,NULL},
{{"getDayOfMonth",13},true,false,2,o16,NULL,NULL},
{{"getDayOfWeek",12},true,false,2,o17,NULL,NULL},
{{"getDayOfYear",12},true,false,2,o18,NULL,NULL},
{{"getFullYear",11},true,false,2,o19,NULL,NULL},
{{"getHours",8},true,false,3,o20,NULL,NULL},
{{"getMilliseconds",15},true,false,3,o21,NULL,NULL},
{{"getMinutes",10},true,false,3,o22,NULL,NULL},
{{"getMonth",8},true,false,2,o23,NULL,NULL},
{{"getSeconds",10},true,false,3,o24,NULL,NULL},
{{"hasValue",8},true,false,1,o25,NULL,NULL},
{{"indexOf",7},true,false,2,o26,NULL,NULL},
{{"int",3},false,false,6,o27,NULL,NULL},
{{"ip",2},false,false,1,o28,NULL,NULL},
{{"ip",2},true,false,1,o29,NULL,NULL},
{{"ip.isCanonical",14},false,false,1,o30,NULL,NULL},
{{"isCIDR",6},false,false,1,o31,NULL,NULL},
{{"isGlobalUnicast",15},true,false,1,o32,NULL,NULL},
{{"isIP",4},false,false,1,o33,NULL,NULL},
{{"isLinkLocalMulticast",20},true,false,1,o34,NULL,NULL},
{{"isLinkLocalUnicast",18},true,false,1,o35,NULL,NULL},
{{"isLoopback",10},true,false,1,o36,NULL,NULL},
{{"isUnspecified",13},true,false,1,o37,NULL,NULL},
{{"join",4},true,false,2,o38,NULL,NULL},
{{"lastIndexOf",11},true,false,2,o39,NULL,NULL},
{{"lowerAscii",10},true,false,1,o40,NULL,NULL},
{{"masked",6},true,false,1,o41,NULL,NULL},
{{"matches",7},false,false,1,o42,NULL,NULL},
{{"matches",7},true,false,1,o43,NULL,NULL},
{{"math.abs",8},false,false,3,o44,NULL,NULL},
{{"math.bitAnd",11},false,false,2,o45,NULL,NULL},
{{"math.bitNot",11},false,false,2,o46,NULL,NULL},
{{"math.bitOr",10},false,false,2,o47,NULL,NULL},
{{"math.bitShiftLeft",17},false,false,2,o48,NULL,NULL},
{{"math.bitShiftRight",18},false,false,2,o49,NULL,NULL},
{{"math.bitXor",11},false,false,2,o50,NULL,NULL},
{{"math.ceil",9},false,false,1,o51,NULL,NULL},
{{"math.floor",10},false,false,1,o52,NULL,NULL},
{{"math.greatest",13},false,true,5,o53,NULL,NULL},
{{"math.isFinite",13},false,false,1,o54,NULL,NULL},
{{"math.isInf",10},false,false,1,o55,NULL,NULL},
{{"math.isNaN",10},false,false,1,o56,NULL,NULL},
{{"math.least",10},false,true,5,o57,NULL,NULL},
{{"math.round",10},false,false,1,o58,NULL,NULL},
{{"math.sign",9},false,false,3,o59,NULL,NULL},
{{"math.trunc",10},false,false,1,o60,NULL,NULL},
{{"optional.none",13},false,false,1,o61,NULL,NULL},
{{"optional.of",11},false,false,1,o62,NULL,NULL},
{{"optional.ofNonZeroValue",23},false,false,1,o63,NULL,NULL},
{{"optional.unwrap",15},false,false,1,o64,NULL,NULL},
{{"or",2},true,false,1,o65,NULL,NULL},
{{"orValue",7},true,false,1,o66,NULL,NULL},
{{"prefixLength",12},true,false,1,o67,NULL,NULL},
{{"replace",7},true,false,2,o68,NULL,NULL},
{{"reverse",7},true,false,1,o69,NULL,NULL},
{{"size",4},false,false,4,o70,NULL,NULL},
{{"size",4},true,false,4,o71,NULL,NULL},
{{"split",5},true,false,2,o72,NULL,NULL},
{{"startsWith",10},true,false,1,o73,NULL,NULL},
{{"string",6},false,false,10,o74,NULL,NULL},
{{"strings.quote",13},false,false,1,o75,NULL,NULL},
{{"substring",9},true,false,2,o76,NULL,NULL},
{{"timestamp",9},false,false,3,o77,NULL,NULL},
{{"trim",4},true,false,1,o78,NULL,NULL},
{{"type",4},false,false,1,o79,NULL,NULL},
{{"uint",4},false,false,4,o80,NULL,NULL},
{{"unwrapOpt",9},true,false,1,o81,NULL,NULL},
{{"upperAscii",10},true,false,1,o82,NULL,NULL},
{{"value",5},true,false,1,o83,NULL,NULL},
};
__attribute__((weak)) const il_cel_builtin *il_cel_builtins(size_t *n){*n=sizeof rows/sizeof rows[0];return rows;}
__attribute__((weak)) const il_cel_builtin *il_cel_builtin_find(il_str name,bool receiver){for(size_t i=0;i<sizeof rows/sizeof rows[0];i++)if(rows[i].receiver==receiver&&il_str_eq(rows[i].name,name))return &rows[i];return NULL;}
#include "cel/value.h"
__attribute__((weak)) il_cel_value il_cel_of_json(const il_json *v){(void)v;return il_cel_of_fault(IL_CEL_UNKNOWN);}
__attribute__((weak)) void il_cel_explain(const il_cel_program *p, il_cel_value e, il_error *err){(void)p;(void)e;(void)err;}
